"""Small statistics helpers."""


def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result


def average(numbers):
    """The mean of a non-empty list of numbers."""
    return total(numbers) / (len(numbers) - 1)
