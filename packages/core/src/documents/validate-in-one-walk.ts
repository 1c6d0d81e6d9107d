import {
  assertValidSchema,
  type ASTNode,
  type ASTVisitor,
  BREAK,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLSchema,
  isExecutableDefinitionNode,
  Kind,
  KnownDirectivesRule,
  KnownTypeNamesRule,
  type OperationDefinitionNode,
  specifiedRules,
  TypeInfo,
  UniqueDirectivesPerLocationRule,
  validate,
  ValidationContext,
  type ValidationRule,
  type VariableNode,
  versionInfo,
} from 'graphql'
import { isList, memberOf, membersOf } from './members.ts'

/** graphql 17 sends a tracing event for each validation, so its own function is used. */
const isOwnWay = versionInfo.major > 16
/** Maximum number of errors by default, as in graphql. */
const MAX_ERRORS = 100
/**
 * graphql counts the lines from the beginning of the document again for each error. This is the maximum
 * number of lines that it counts for all errors of a document. A line is equivalent to 100 characters.
 */
const MAX_COUNTED_LINES = 100_000
const CHARACTERS_OF_LINE = 100

/**
 * Validates a document like graphql's `validate`, with the same errors in the same order, but runs all rules in one
 * walk. Long documents get fewer errors: see `MAX_COUNTED_LINES`. It calls graphql's own function if the walk ends
 * early, if the caller passes a `typeInfo`, or if the document defines types.
 */
export const validateInOneWalk: typeof validate = (
  schema,
  document,
  rules = specifiedRules,
  options,
  typeInfo,
) => {
  const { maxErrors: allowed = MAX_ERRORS } = options ?? {}
  const text = document.loc?.source.body ?? ''
  const lines = 1 + countLineBreaks(text) + text.length / CHARACTERS_OF_LINE
  const maxErrors = Math.min(allowed, Math.ceil(MAX_COUNTED_LINES / lines))
  const byGraphQL = (): readonly GraphQLError[] =>
    validate(schema, document, rules, { ...options, maxErrors }, typeInfo)
  const byOneWalk = (): readonly GraphQLError[] => {
    assertValidSchema(schema)
    const errors: GraphQLError[] = []
    const report = (error: GraphQLError): void => {
      if (errors.length >= maxErrors) throw error
      errors.push(error)
    }
    const context = new WalkContext(schema, document, report, options?.hideSuggestions ?? false)
    const visitors = rules.map((rule) => visitorOf(rule, context))
    new Walk(visitors, context).run(document)
    return errors
  }
  const isForGraphQL = isOwnWay || typeInfo || !document.definitions.every(isExecutableDefinitionNode)
  const { stackTraceLimit } = Error
  try {
    // Errors are created without a stack. The stack of a cached error would keep the walk and all its rules in
    // memory, about 25 kB.
    Error.stackTraceLimit = 0
    return isForGraphQL ? byGraphQL() : byOneWalk()
  } catch {
    Error.stackTraceLimit = stackTraceLimit
    return byGraphQL()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/**
 * Rule of graphql that reads the complete schema before it visits a node. `concerns` returns whether the rule
 * can report an error for a node. The rule is created only if that is true for a node of the document.
 */
interface Seldom {
  readonly kinds: readonly string[]
  concerns(node: ASTNode, context: ValidationContext): boolean
}

const SELDOM = new Map<ValidationRule, Seldom>([
  [
    KnownTypeNamesRule,
    {
      kinds: [Kind.NAMED_TYPE],
      concerns: (node, context) =>
        node.kind === Kind.NAMED_TYPE && !context.getSchema().getType(node.name.value),
    },
  ],
  [KnownDirectivesRule, { kinds: [Kind.DIRECTIVE], concerns: () => true }],
  [
    UniqueDirectivesPerLocationRule,
    {
      kinds: [
        Kind.OPERATION_DEFINITION,
        Kind.VARIABLE_DEFINITION,
        Kind.FIELD,
        Kind.FRAGMENT_SPREAD,
        Kind.INLINE_FRAGMENT,
        Kind.FRAGMENT_DEFINITION,
      ],
      concerns: (node) => 'directives' in node && (node.directives?.length ?? 0) > 0,
    },
  ],
])

type Enter = (this: ASTVisitor, node: ASTNode, ...others: readonly unknown[]) => unknown

function visitorOf(rule: ValidationRule, context: ValidationContext): ASTVisitor {
  const seldom = SELDOM.get(rule)
  if (!seldom) return rule(context)
  let visitor: ASTVisitor | undefined
  const enter: Enter = (node, ...others) => {
    if (!seldom.concerns(node, context)) return undefined
    visitor ??= rule(context)
    const member = (Reflect.get(visitor, node.kind) ?? Reflect.get(visitor, 'enter')) as Enter
    return member.call(visitor, node, ...others)
  }
  const standIn: Record<string, Enter> = {}
  for (const kind of seldom.kinds) standIn[kind] = enter
  return standIn as ASTVisitor
}

function countLineBreaks(text: string): number {
  let count = 0
  for (const one of '\n\r') for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1)) count++
  return count
}

type Definition = OperationDefinitionNode | FragmentDefinitionNode
type Usages = ReturnType<ValidationContext['getVariableUsages']>

/** Validation context for rules. It stores the variable usages that a walk finds. */
class WalkContext extends ValidationContext {
  readonly typeInfo: TypeInfo
  readonly #usages = new Map<unknown, Usages>()

  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    report: (error: GraphQLError) => void,
    hideSuggestions: boolean,
  ) {
    const typeInfo = new TypeInfo(schema)
    super(schema, document, typeInfo, report, hideSuggestions)
    this.typeInfo = typeInfo
  }

  /** Returns the usage of the variable at the current position of the walk. */
  usageOf(node: VariableNode): Usages[number] {
    const { typeInfo } = this
    return {
      node,
      type: typeInfo.getInputType(),
      defaultValue: typeInfo.getDefaultValue(),
      parentType: typeInfo.getParentInputType(),
    }
  }

  /** Stores the variable usages of an operation or a fragment after the walk has visited it. */
  noteUsages(definition: Definition, usages: Usages): void {
    this.#usages.set(definition, usages)
  }

  override getVariableUsages(node: Parameters<ValidationContext['getVariableUsages']>[0]): Usages {
    return this.#usages.get(node) ?? super.getVariableUsages(node)
  }
}

type Visit = (
  node: ASTNode,
  key: string | number | undefined,
  parent: unknown,
  path: readonly (string | number)[],
  ancestors: readonly unknown[],
) => unknown

/** Functions of one rule for nodes of one kind. */
interface Step {
  readonly rule: Rule
  readonly enter: Visit | undefined
  readonly leave: Visit | undefined
}

interface Rule {
  readonly visitor: ASTVisitor
  /** Node whose children the rule skips. `BREAK` means that the rule skips the rest of the document. */
  skipped: unknown
}

const ALL_KINDS: readonly string[] = Object.values(Kind)

/**
 * Visits a document of operations and fragments once for all rules. Rules receive the same calls as from
 * graphql's own visitor. That visitor checks each of about thirty rules at each node. This class calls only
 * the rules that have a function for the kind of the node.
 */
class Walk {
  readonly #context: WalkContext
  readonly #steps = new Map<string, Step[]>()
  readonly #seesNames: boolean
  readonly #path: (string | number)[] = []
  readonly #ancestors: unknown[] = []
  #usages: Usages[number][] = []
  #isInVariable = false

  constructor(visitors: readonly ASTVisitor[], context: WalkContext) {
    this.#context = context
    for (const visitor of visitors) this.#add(visitor)
    this.#seesNames = this.#steps.has(Kind.NAME)
  }

  run(document: DocumentNode): void {
    this.#visit(document, undefined, undefined)
  }

  #add(visitor: ASTVisitor): void {
    const rule: Rule = { visitor, skipped: undefined }
    const members = visitor as Readonly<Record<string, Visit | Partial<Step> | undefined>>
    const all = visitor as Partial<Step>
    for (const kind of all.enter || all.leave ? ALL_KINDS : Object.keys(members)) {
      const member = members[kind] ?? all
      const [enter, leave] = typeof member === 'function' ? [member, undefined] : [member.enter, member.leave]
      const step: Step = { rule, enter, leave }
      const others = this.#steps.get(kind)
      if (others) others.push(step)
      else this.#steps.set(kind, [step])
    }
  }

  #visit(node: ASTNode, key: string | number | undefined, parent: unknown): void {
    const { typeInfo } = this.#context
    const { kind } = node
    const steps = this.#steps.get(kind)
    typeInfo.enter(node)
    if (steps) this.#enter(steps, node, key, parent)
    if (kind === Kind.VARIABLE && !this.#isInVariable)
      this.#usages.push(this.#context.usageOf(node as VariableNode))
    const wasInVariable = this.#isInVariable
    if (kind === Kind.VARIABLE_DEFINITION) this.#isInVariable = true
    this.#below(node, parent)
    this.#isInVariable = wasInVariable
    if (kind === Kind.OPERATION_DEFINITION || kind === Kind.FRAGMENT_DEFINITION) {
      this.#context.noteUsages(node, this.#usages)
      this.#usages = []
    }
    if (steps) this.#leave(steps, node, key, parent)
    typeInfo.leave(node)
  }

  #below(node: ASTNode, parent: unknown): void {
    const path = this.#path
    const ancestors = this.#ancestors
    if (parent !== undefined) ancestors.push(parent)
    for (const member of membersOf(node.kind)) {
      const value = memberOf(node, member)
      if (value == null) continue
      if (isList(value)) {
        if (value.length === 0) continue
        path.push(member)
        ancestors.push(node)
        for (let index = 0; index < value.length; index++) {
          path.push(index)
          this.#visit(value[index] as ASTNode, index, value)
          path.pop()
        }
        ancestors.pop()
        path.pop()
      } else if (this.#seesNames || value.kind !== Kind.NAME) {
        path.push(member)
        this.#visit(value, member, node)
        path.pop()
      }
    }
    if (parent !== undefined) ancestors.pop()
  }

  #enter(steps: readonly Step[], node: ASTNode, key: string | number | undefined, parent: unknown): void {
    for (const { rule, enter } of steps) {
      if (!enter || rule.skipped !== undefined) continue
      const result = enter.call(rule.visitor, node, key, parent, this.#path, this.#ancestors)
      if (result === false) rule.skipped = node
      else if (result === BREAK) rule.skipped = BREAK
    }
  }

  #leave(steps: readonly Step[], node: ASTNode, key: string | number | undefined, parent: unknown): void {
    for (const { rule, leave } of steps) {
      if (rule.skipped === node) rule.skipped = undefined
      else if (leave && rule.skipped === undefined) {
        const result = leave.call(rule.visitor, node, key, parent, this.#path, this.#ancestors)
        if (result === BREAK) rule.skipped = BREAK
      }
    }
  }
}
