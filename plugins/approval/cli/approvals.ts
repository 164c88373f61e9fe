import { type ApiClient, Failure, printable } from 'svc/cli';

/** Pending change, as a signer must see it. */
export interface Approval {
  readonly id: string;
  readonly status: string;
  /** False for who may neither sign it nor read about it. */
  readonly visible?: boolean;
  readonly tool: string;
  readonly class: string;
  readonly rendered: string;
  readonly args_sha256: string;
  readonly target: { readonly name: string };
  readonly requested_by: { readonly name: string };
  readonly required_signatures: number;
  readonly signatures: readonly { readonly name: string; readonly decision: string }[];
  readonly expires_at: string;
}

export const approvalPath = (id: string): string => `/api/v1/approvals/${encodeURIComponent(id)}`;

/** Throws where it does not wait any more. */
export async function waiting(client: ApiClient, id: string): Promise<Approval> {
  const approval = await client.get<Approval>(approvalPath(id));
  if (approval.status !== 'pending' && approval.status !== 'partially_signed') {
    throw new Failure(
      4,
      'conflict',
      `the change ${approval.id} is ${approval.status}: there is nothing left to decide`,
    );
  }
  if (approval.visible === false) {
    throw new Failure(
      4,
      'forbidden',
      `the change ${approval.id} is for others to decide: your role does not include approval:sign`,
    );
  }
  return approval;
}

export const describe = ({
  rendered,
  target,
  class: kind,
  requested_by: by,
  required_signatures: wanted,
  signatures,
  expires_at: until,
}: Approval): string =>
  [
    ...rendered.split('\n').map((line) => `  ${printable(line)}`),
    `${kind}, on ${printable(target.name) || 'this manager'}; requested by ${printable(by.name)}; ${signatures.length} of ${wanted} signatures; until ${until}`,
  ].join('\n');
