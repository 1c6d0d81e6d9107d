/** Caches the value that follows from a header. The cache is bounded, because clients can send any value. */
export function createChoices<Choice>(
  choose: (headerValue: string) => Choice | undefined,
): (headerValue: string) => Choice | undefined {
  const known = new Map<string, Choice | undefined>()
  return (headerValue) => {
    const before = known.get(headerValue)
    if (before !== undefined || known.has(headerValue)) return before
    const choice = choose(headerValue)
    if (known.size < MAX_CHOICES && headerValue.length <= MAX_LENGTH) known.set(headerValue, choice)
    return choice
  }
}

const MAX_CHOICES = 100
const MAX_LENGTH = 256
