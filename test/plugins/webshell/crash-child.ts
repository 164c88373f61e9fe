import { shellHouse } from './house.ts';

/** Opens a shell on the SSH server of its parent, lets it print something, and waits to be killed. */
const { port, user, privateKey, dataDir } = JSON.parse(process.argv[2]!) as {
  port: number;
  user: string;
  privateKey: string;
  dataDir: string;
};
const { device, open, house } = await shellHouse({ after: () => {} }, () => port, { dataDir });
const shell = await open(await device(1), {
  bearer: house.token,
  first: { user, auth: { type: 'key', private_key: privateKey } },
});
const { session_id: session } = await shell.frame('ready');
shell.type('echo kept-un""til-the-end\n');
await shell.shows('kept-until-the-end');
// It is on disk at once, and more comes all the time.
process.on('disconnect', () => process.exit(0));
setInterval(() => shell.type('echo more\n'), 50);
setTimeout(() => process.send!({ session }), 2_500);
