/** Where ordinary execution has to say what the answer is: a null where none may be, bytes that are no UTF-8, … */
export class Unsure extends Error {
  override name = 'Unsure'
}
