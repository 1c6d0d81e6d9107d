/** The name, or, where it is used, with the first number behind it, from 2 on, with which it is not. */
export function freeName(wanted: string, isUsed: (name: string) => boolean, joint = ''): string {
  let name = wanted
  for (let number = 2; isUsed(name); number++) name = `${wanted}${joint}${number}`
  return name
}
