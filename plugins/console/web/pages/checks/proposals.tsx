import { api } from '../../client/api.ts';
import { useMay } from '../../client/additions.ts';
import { useList } from '../../client/data.ts';
import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Button, Section } from '../../kit/parts.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import type { Proposal } from './check.ts';

/** Addresses that agents found on their machines, to be taken or dismissed; nothing where there are none. */
export function Proposals({ onTaken }: { readonly onTaken: () => void }) {
  const may = useMay()('check:edit');
  const proposals = useList<Proposal>('/check-proposals', { every: 30_000 });
  const open = proposals.items?.filter(({ dismissed }) => !dismissed) ?? [];
  if (!may || open.length === 0) {
    return null;
  }
  const settle = async ({ id }: Proposal, how: 'take' | 'dismiss'): Promise<void> => {
    await attempt(
      () => api.post(`/check-proposals/${id}/${how}`, {}),
      how === 'take' ? text.added : text.dismissed,
    );
    proposals.reload();
    onTaken();
  };
  return (
    <Section title={text.proposals}>
      <p class="soft">{text.proposalsNote}</p>
      <Table
        label={text.proposals}
        rows={open}
        asked={proposals}
        columns={[...columns, actions((proposal, how) => void settle(proposal, how))]}
        keyOf={({ id }) => id}
        empty={null}
        {...(proposals.more !== undefined && { more: proposals.more })}
      />
    </Section>
  );
}

const columns: readonly Column<Proposal>[] = [
  {
    head: text.target,
    cell: ({ target, kind }) => (
      <span class="whole">
        {target} <span class="soft">{kind}</span>
      </span>
    ),
  },
  {
    head: text.foundBy,
    width: '240px',
    rank: 1,
    cell: ({ source, agents }) =>
      say(text[`foundIn_${source}`], { agents: agents.slice(0, 3).join(', ') }),
  },
  { head: text.places, width: '140px', rank: 2, cell: ({ places }) => places.join(', ') },
];

const actions = (
  settle: (proposal: Proposal, how: 'take' | 'dismiss') => void,
): Column<Proposal> => ({
  head: text.action,
  width: '190px',
  cell: (proposal) => (
    <>
      <Button
        label={say(text.takeIt, { target: proposal.target })}
        onClick={() => settle(proposal, 'take')}
      >
        {text.take}
      </Button>
      <Button
        kind="quiet"
        label={say(text.dismissIt, { target: proposal.target })}
        onClick={() => settle(proposal, 'dismiss')}
      >
        {text.dismiss}
      </Button>
    </>
  ),
});
