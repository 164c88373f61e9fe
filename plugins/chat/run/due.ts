import type { Approval } from 'svc/contracts/approval';

import type { RunPorts } from './ports.ts';

/**
 * Returns whether a call can continue: people have decided, and what they have approved can be
 * made. Until its device is back it stays approved, and expires so.
 */
export async function isDue(
  approval: Approval,
  { reachable }: Pick<RunPorts, 'reachable'>,
): Promise<boolean> {
  switch (approval.status) {
    case 'pending':
    case 'partially_signed':
      return false;
    case 'approved':
      return await reachable(approval);
    default:
      return true;
  }
}

/** Returns whether everything that a run waits for can continue. */
export async function isRunDue(
  id: string,
  ports: Pick<RunPorts, 'approvals' | 'reachable'>,
): Promise<boolean> {
  if (!ports.approvals.available) {
    return false;
  }
  const due = (await ports.approvals.get().of('chat', id)).map((approval) =>
    isDue(approval, ports),
  );
  return (await Promise.all(due)).every(Boolean);
}
