"""Models and what must be known about them: today only how long a text is for one."""
