import type { DescriptorProto, FileDescriptorProto } from '@bufbuild/protobuf/wkt'

/** Every type that files define, by its full name. */
export type TypeKinds = ReadonlyMap<string, 'enum' | 'message'>

export function typesOf(files: readonly FileDescriptorProto[]): TypeKinds {
  const types = new Map<string, 'enum' | 'message'>()
  const add = (messages: readonly DescriptorProto[], scope: string): void => {
    for (const message of messages) {
      const fullName = scope === '' ? message.name : `${scope}.${message.name}`
      types.set(fullName, 'message')
      add(message.nestedType, fullName)
      for (const type of message.enumType) types.set(`${fullName}.${type.name}`, 'enum')
    }
  }
  for (const file of files) {
    add(file.messageType, file.package)
    for (const type of file.enumType)
      types.set(file.package === '' ? type.name : `${file.package}.${type.name}`, 'enum')
  }
  return types
}
