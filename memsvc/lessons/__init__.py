"""What is learnt from mistakes, work and a look back: critiques and their lessons, plans, reflections."""
