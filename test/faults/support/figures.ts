import { appendFileSync } from 'node:fs'

export interface Figure {
  /** HTTP, WebSocket, gRPC, …: the table's first column. */
  readonly area: string
  readonly fault: string
  readonly asked: string
  readonly seen: string
}

/** Names the file that figures go to while `pnpm test:faults` runs. */
export const FIGURES_FILE = 'VINYASA_FIGURES_FILE'

/** Prints a figure beside the one asked for, and keeps it for RESULTS.md. */
export function recordFigure(figure: Figure): void {
  const { area, fault, asked, seen } = figure
  process.stdout.write(`${area} | ${fault} | asked: ${asked} | seen: ${seen}\n`)
  const file = process.env[FIGURES_FILE]
  if (file) appendFileSync(file, `${JSON.stringify(figure)}\n`)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
