"""The Measurability page: judges, the gate's rules, further sections."""
