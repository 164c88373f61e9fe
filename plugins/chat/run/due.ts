import type { Approval } from '../../approval/contract.ts';
import type { RunPorts } from './ports.ts';

/** Whether a call goes on now: people have decided, and what they have approved can be made. Until its device is back it stays approved, and expires so. */
export async function isDue(approval: Approval, { reachable }: Pick<RunPorts, 'reachable'>): Promise<boolean> {
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
