import { readFile, writeFile } from 'node:fs/promises'

/**
 * Replaces one section of a Markdown file (from its marker to the next) and leaves the others, so that programs that
 * run at different times share one file.
 */
export async function writeSection(file: URL, name: string, text: string): Promise<void> {
  const before = await readFile(file, 'utf8').catch(() => '# Benchmark results\n')
  const start = `<!-- ${name} -->`
  const end = `<!-- /${name} -->`
  const section = `${start}\n\n${text.trim()}\n\n${end}`
  const from = before.indexOf(start)
  const to = before.indexOf(end)
  const after =
    from >= 0 && to > from
      ? before.slice(0, from) + section + before.slice(to + end.length)
      : `${before.trimEnd()}\n\n${section}\n`
  await writeFile(file, after)
}
