import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

// The permission model does not know signals and priorities, which reach every process of the same user: the host too.
for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd']) {
  Reflect.deleteProperty(process, name);
}
Reflect.deleteProperty(os, 'setPriority');
syncBuiltinESMExports();
