export default function Page() {
  return <a href="/graphql">GraphiQL</a>
}
