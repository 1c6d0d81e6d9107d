/** After all that promises which are settled now have in store: like DataLoader, to wait for all who are about to ask. */
export function afterPromises(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)))
}
