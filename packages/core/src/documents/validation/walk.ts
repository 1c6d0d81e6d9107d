import {
  type ASTNode,
  type ASTVisitor,
  BREAK,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  ValidationContext,
  type VariableNode,
} from 'graphql'
import { isList, memberOf, membersOf } from '../members.ts'

type Definition = OperationDefinitionNode | FragmentDefinitionNode
type Usages = ReturnType<ValidationContext['getVariableUsages']>

/** Validation context for rules. It stores the variable usages that a walk finds. */
export class WalkContext extends ValidationContext {
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
export class Walk {
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
