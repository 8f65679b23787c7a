"""The REST API: a thin shell over the capabilities' functions. The only package that imports Litestar."""
