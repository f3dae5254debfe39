from stack import Stack


def test_push():
    stack = Stack()
    stack.push("a")
    assert len(stack) == 1


def test_pop():
    stack = Stack()
    stack.push("a")
    stack.push("b")
    assert stack.pop() == "b"
    assert stack.pop() == "a"
