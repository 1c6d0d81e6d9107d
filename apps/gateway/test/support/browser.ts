import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { describe, onTestFinished } from 'vitest'

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'

/** `describe` for suites that need a browser: skipped with a loud line without one, failing where `CI` is set. */
export function describeWithBrowser(name: string, suite: () => void): void {
  const skip = !existsSync(CHROMIUM) && !process.env['CI']
  if (skip) {
    process.stderr.write(
      `\n!!! SKIPPED "${name}": no ${CHROMIUM} (apt-get install chromium, or set CHROMIUM_PATH)\n`,
    )
  }
  // oxlint-disable-next-line vitest/valid-title, vitest/valid-describe-callback -- they are this function's arguments
  describe.skipIf(skip)(name, suite)
}

export interface OpenPage {
  readonly page: Page
  /** What the page asked for beyond this machine; nothing of it is answered. */
  readonly outside: readonly string[]
  /** Errors of scripts on the page. */
  readonly errors: readonly string[]
}

/** A page in a real headless Chromium that can reach nothing but 127.0.0.1. */
export async function openPage(): Promise<OpenPage> {
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  })
  onTestFinished(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } })
  const outside: string[] = []
  const errors: string[] = []
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url())
    if (protocol.startsWith('http') && hostname !== '127.0.0.1') outside.push(request.url())
  })
  page.on('pageerror', (error) => errors.push(error.message))
  return { page, outside, errors }
}

/** The pictures of the README, by the names that tests give them. `pnpm docs:pictures` writes them. */
const README_PICTURES: Readonly<Record<string, string>> = {
  'graphiql-live-2': 'graphiql',
  'status-busy': 'status',
}

/** Writes a picture of the page if `SCREENSHOTS` names a folder, or if the README shows it and `README_PICTURES` is set. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
  const inReadme = process.env['README_PICTURES'] && README_PICTURES[name]
  if (!inReadme) return
  const path = fileURLToPath(new URL(`../../../../docs/public/${inReadme}.png`, import.meta.url))
  await page.screenshot({ path })
}
