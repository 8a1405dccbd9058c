"""Tests that ask the real Pi agent: its contexts, trees, lists and launches beside pitree's."""
