/** Why an operation has no plan; found while it is compiled. */
export class Unplannable extends Error {
  override name = 'Unplannable'
}
