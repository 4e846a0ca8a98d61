"""What a program that dos starts may touch, as the kernel enforces it. Pure modules; `io` acts."""
