import type { User } from '../cli/accounts.ts';
import type { Command } from '../cli/command.ts';
import { houseOptions, openHouse } from '../cli/house-access.ts';
import { printable, table } from '../cli/layout.ts';

export const command: Command = {
  operands: [],
  options: houseOptions,
  about: 'Those of the organizations that you belong to; administrators and the operator see everybody.',
  example: 'svc user list --json',

  async run(call) {
    const house = await openHouse(call);
    const items = await house.list<User>('/api/v1/users');
    return {
      data: { items },
      text: (paint) => {
        const rows = items.map(({ id, email, display_name, role, status, last_login_at }) => [
          String(id),
          printable(email),
          printable(display_name),
          role,
          status === 'active' ? paint.good(status) : paint.warn(status),
          last_login_at ?? 'never',
        ]);
        return items.length === 0
          ? 'Nobody has an account yet; "svc user create" makes one'
          : table([['ID', 'EMAIL', 'NAME', 'ROLE', 'STATUS', 'LAST LOGIN'], ...rows]);
      },
    };
  },
};
