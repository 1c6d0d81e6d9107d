import { withoutVariables } from '../../../config/file/environment.ts'
import { Unsaid } from '../migration.ts'
import { take, type Taken } from '../rest-draft.ts'

/** What the expressions of a call may speak of. */
export interface Speech {
  /** `@server(vars:)`. */
  readonly vars: ReadonlyMap<string, string>
  /** Names of the field's own arguments. */
  readonly args: ReadonlySet<string>
  readonly taken: Taken
  /** Headers of the client's that are sent along with this request. */
  readonly forwarded: Set<string>
}

const EXPRESSION = /\{\{\s*\.?([^{}]*?)\s*\}\}/g

/**
 * A template of Tailcall in the words of this gateway: `{{.args.id}}` is `{id}`, `{{.value.id}}` an argument that is taken
 * from the parent, `{{.env.NAME}}` is `${NAME}`. Throws {@link Unsaid}.
 */
export function toTemplate(text: string, speech: Speech): string {
  let written = ''
  let end = 0
  for (const match of text.matchAll(EXPRESSION)) {
    written += withoutVariables(text.slice(end, match.index)) + expressionOf(match[1] ?? '', speech)
    end = match.index + match[0].length
  }
  return written + withoutVariables(text.slice(end))
}

/** The header of the client's that a template is, and nothing else. */
export function headerOf(text: string): string | undefined {
  return /^\{\{\s*\.?headers\.([\w-]+)\s*\}\}$/.exec(text.trim())?.[1]
}

/** The argument, if the complete template is one argument. Undefined for values that are not strings. */
export function wholeArgument(value: unknown): string | undefined {
  return typeof value === 'string' ? /^\s*\{\{\s*\.?args\.(\w+)\s*\}\}\s*$/.exec(value)?.[1] : undefined
}

/** The field of the parent, if the complete template is one field. Undefined for values that are not strings. */
export function wholeParent(value: unknown): string | undefined {
  return typeof value === 'string' ? /^\s*\{\{\s*\.?value\.(\w+)\s*\}\}\s*$/.exec(value)?.[1] : undefined
}

/** A body that is data, as the text of a template: an expression that is a whole text stands for its value. */
export function toBody(body: unknown, speech: Speech): string {
  const given = typeof body === 'string' ? body : JSON.stringify(body)
  const bare = given.replaceAll(/"(\{\{\s*\.?(?:args|value)\.[^{}]*\}\})"/g, '$1')
  return toTemplate(bare, speech)
}

function expressionOf(expression: string, speech: Speech): string {
  const [kind = '', name = '', ...more] = expression.split('.')
  const whole = `{{.${expression}}}`
  if (kind === 'env' && /^\w+$/.test(name)) return `\${${name}}`
  if (kind === 'vars') {
    const value = speech.vars.get(name)
    if (value === undefined) throw new Unsaid(`${whole}: @server(vars:) does not define this variable`)
    return withoutVariables(value)
  }
  if (kind === 'headers') {
    throw new Unsaid(
      `${whole}: a client header can only be forwarded as a header with the same name; write an interceptor in a TypeScript config for other uses`,
    )
  }
  if (more.length > 0)
    throw new Unsaid(
      `${whole}: templates can use an argument or a field of the parent, but not a nested field; write a resolver in a TypeScript config`,
    )
  if (!/^(args|value)$/.test(kind) || name === '')
    throw new Unsaid(`${whole} has no equivalent; write a resolver in a TypeScript config`)
  return `{${take(kind === 'args', name, speech)}}`
}
