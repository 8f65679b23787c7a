"""tmp"""

from sqlalchemy import make_url


def without_login(url: str) -> str:
    return make_url(url)._replace(username=None, password=None).render_as_string(hide_password=False)
