/** Stands between a token and its owner in the name of a sender: `token 7 of ada@example.org`. */
const ownedBy = ' of ';

/** Returns the account of a sender: of a token, that of its owner; any other sender is one by itself. */
export function accountOf(sender: string): string {
  const at = sender.lastIndexOf(ownedBy);
  return at === -1 ? sender : sender.slice(at + ownedBy.length);
}

/**
 * Returns the percentage of what others leave that all senders of one account may take together:
 * whoever makes more tokens gets half of the rest at most, and one greedy token leaves the other
 * half of it to those of the same account.
 */
export const accountShareOf = (senderShare: number): number => (100 + senderShare) / 2;
