import { definePlugin } from 'svc/sdk';

import { Directory } from '../iam/contract.ts';
import { Gate as GateToken } from './contract.ts';
import { Gate } from './gate.ts';

export default definePlugin({
  activate({ services, settings }) {
    const directory = services.use(Directory);
    services.provide(GateToken, () => new Gate({ directory, settings }));
  },
});
