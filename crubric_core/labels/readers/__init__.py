"""Read label files of any format: recognise the layout, plan the reading, give canonical rows; without a workspace."""
