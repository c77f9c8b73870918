"""What the lessons become when they leave the kernel: handouts, slides, running orders and the site."""
