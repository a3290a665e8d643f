"""The Items page: rubrics and their information, and checks of the response model."""
