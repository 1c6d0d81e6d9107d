/**
 * The comments of a TypeScript text whose first sentence has no subject of its own: it begins with a word that makes a clause,
 * and has no verb besides that clause's. Verbs are told by a list of the usual ones, so the count is a measure, not a proof.
 */
export function commentsWithoutSubject(text: string): string[] {
  const comments = [...text.matchAll(/\/\*\*?[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+|\/\/.*/gm)].map(([comment]) =>
    comment
      .replace(/^[ \t]*(?:\/\*\*?|\/\/|\*(?!\/))|\*\/$/gm, '')
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return comments.filter((comment) => {
    const [first = ''] = comment.split(/(?<=[.:;])\s/)
    const [word = ''] = first.split(' ')
    const needed = VERBS_NEEDED[word]
    return needed !== undefined && (first.match(VERBS) ?? []).length < needed
  })
}

/** How many verbs a sentence with such a beginning has at least: the clause's own, and the sentence's. */
const VERBS_NEEDED: Readonly<Record<string, number | undefined>> = {
  Of: 1,
  As: 2,
  What: 2,
  Where: 2,
  Who: 2,
  Those: 2,
}

const VERBS =
  /\b(?:is|are|was|were|be|has|have|had|does|do|did|can|cannot|could|may|might|must|shall|will|would|should|(?:ask|answer|begin|bring|call|come|cost|count|end|fail|find|follow|give|go|hear|hold|keep|know|lead|leave|let|live|make|mean|name|need|pass|read|refuse|run|say|see|send|set|show|stand|stay|stop|take|tell|throw|wait|want|write)(?:s|es)?|gave|went|came|made|said|took|told)\b/g
