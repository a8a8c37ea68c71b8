"""CUDA C++ on the CPU: a cell's source, compiled by the C++ compiler that is here, and launched."""
