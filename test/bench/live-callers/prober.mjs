// Somebody else's plain queries, one after another, in a process of their own: how long each took.
const { PROBER_URL: url, PROBER_TOKEN: token, PROBER_QUERY: query } = process.env
const EVERY_MS = 20

let delays = []
process.on('message', () => {
  process.send({ delays })
  delays = []
})
process.on('disconnect', () => process.exit(0))

for (;;) {
  const beganAt = performance.now()
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  })
  const { data } = await answer.json()
  if (!data) throw new Error(`The gateway answered ${answer.status}`)
  const tookMs = performance.now() - beganAt
  delays.push(tookMs)
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, EVERY_MS - tookMs)))
}
