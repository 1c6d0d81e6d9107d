/** The fields of a header block in their order, names and values by turns. */
export class HeaderList {
  readonly fields: string[] = []

  /** Several values of one name are joined by commas. */
  get(name: string): string | undefined {
    const { fields } = this
    let value: string | undefined
    for (let index = 0; index < fields.length; index += 2) {
      if (fields[index] !== name) continue
      value = value === undefined ? fields[index + 1] : `${value}, ${fields[index + 1]}`
    }
    return value
  }

  *[Symbol.iterator](): IterableIterator<readonly [name: string, value: string]> {
    const { fields } = this
    for (let index = 0; index < fields.length; index += 2)
      yield [fields[index] as string, fields[index + 1] as string]
  }
}
