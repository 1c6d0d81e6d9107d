import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  TypeInfo,
  ValidationContext,
  type VariableNode,
} from 'graphql'

type Definition = OperationDefinitionNode | FragmentDefinitionNode
type Usages = ReturnType<ValidationContext['getVariableUsages']>

/** A context of rules that is told what one walk sees. */
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

  /** Returns the use of the variable at which the walk is. */
  usageOf(node: VariableNode): Usages[number] {
    const { typeInfo } = this
    return {
      node,
      type: typeInfo.getInputType(),
      defaultValue: typeInfo.getDefaultValue(),
      parentType: typeInfo.getParentInputType(),
    }
  }

  /** Notes what an operation or a fragment uses, when the walk has been through it. */
  noteUsages(definition: Definition, usages: Usages): void {
    this.#usages.set(definition, usages)
  }

  override getVariableUsages(node: Parameters<ValidationContext['getVariableUsages']>[0]): Usages {
    return this.#usages.get(node) ?? super.getVariableUsages(node)
  }
}
