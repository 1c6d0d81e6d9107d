/** Where ordinary execution has to say what the answer is: a null where none may be, a value of another kind, … */
export class Unsure extends Error {
  override name = 'Unsure'
}
