"""Trace → Graph: stations and routes, their names, folds of long chains, one scene per backward call."""
