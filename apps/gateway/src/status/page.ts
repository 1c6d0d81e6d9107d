import { hash } from 'node:crypto'
import { ASSETS } from '../assets.ts'

export interface StatusPage {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/** The page, and headers that let it run its own script, talk to its own origin, and nothing else. */
export function readStatusPage(): StatusPage {
  const html = ASSETS.get('status.html') as string
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src ${hashesOf(html, 'style')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  }
}

/** CSP sources for the page's inline elements of a kind: their text and no other. */
function hashesOf(html: string, element: 'script' | 'style'): string {
  const texts = html.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))
  return [...texts].map(([, text = '']) => `'sha256-${hash('sha256', text, 'base64')}'`).join(' ')
}
