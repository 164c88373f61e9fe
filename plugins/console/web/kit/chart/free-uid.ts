/** Returns an address for a new dashboard, by its name, that no other one has. */
export function freeUid(name: string, others: readonly { readonly uid: string }[]): string {
  const plain =
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 60) || 'dashboard';
  const taken = new Set(others.map(({ uid }) => uid));
  for (let number = 1; ; number++) {
    const uid = number === 1 ? plain : `${plain}-${number}`;
    if (!taken.has(uid)) {
      return uid;
    }
  }
}
