/** Top-level settings of the config that no feature draws yet, and why. */
export const NOT_DRAWN: Readonly<Record<string, string>> = {}
