import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Returns the links of a built site whose page or anchor does not exist. */
export function deadLinks(site: string): string[] {
  const pages = new Map<string, string>()
  for (const file of readdirSync(site, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.html') && file !== '404.html') pages.set(file, readFileSync(join(site, file), 'utf8'))
  const places = new Map([...pages].map(([file, html]) => [file, new Set(valuesOf(html, 'id'))]))

  function isThere(from: string, href: string): boolean {
    const { pathname, hash } = new URL(href, `http://site/${from.replace(/(index)?\.html$/, '')}`)
    const path = decodeURIComponent(pathname).slice(1)
    const page = [path, `${path}.html`, `${path}/index.html`, join(path, 'index.html')].find((one) =>
      pages.has(one),
    )
    if (page === undefined) return existsSync(join(site, path)) && !path.endsWith('/')
    return hash === '' || (places.get(page)?.has(decodeURIComponent(hash.slice(1))) ?? false)
  }

  return [...pages].flatMap(([file, html]) =>
    valuesOf(html, 'href')
      .filter((href) => !/^[a-z]+:/i.test(href) && !isThere(file, href))
      .map((href) => `${relative('.', file)}: ${href}`),
  )
}

function valuesOf(html: string, attribute: 'id' | 'href'): string[] {
  const found = [...html.matchAll(new RegExp(`<[a-z][^>]* ${attribute}="([^"]*)"`, 'gi'))]
  return [...new Set(found.map(([, value = '']) => value.replaceAll('&amp;', '&')))]
}
