/** The line of the start banner that makes the first administrator; copied, completed and run. */
export function setupLine(url: string, token: string): string {
  const body = JSON.stringify({ token, email: 'you@example.org', password: 'at least 10 characters' });
  return `Set up   curl ${url}/api/v1/auth/setup -H 'Content-Type: application/json' -d '${body}'`;
}
