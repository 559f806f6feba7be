"""Operations whose arguments are functions."""
