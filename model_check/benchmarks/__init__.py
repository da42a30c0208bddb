"""Benchmarks: how fast the engines are and what they store, measured the same way each time.

`make bench` runs them all. Every run is a process of its own, pinned to one core; runs of different engines take turns,
so that whatever else the machine does hits them alike; of several runs the median counts. Times do not include
building terms and compiling, which are told apart.
"""
