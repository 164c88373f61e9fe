import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { redactArguments } from 'svc/probe';

/** The arguments a shell would make of a line: blanks part them but within quotes. */
const argumentsOf = (line: string): string[] =>
  [...line.matchAll(/(?:[^\s'"]|'[^']*'|"(?:[^"\\]|\\.)*")+/g)].map(([part]) =>
    part.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"/g, '$1$2'),
  );

const telling = String.raw`
curl -u admin:Zq7xK2 https://host/
curl -uadmin:Zq7xK2 https://host/
curl -sSu admin:Zq7xK2 https://host/
curl -sSLuadmin:Zq7xK2 https://host/
curl --user=bob:Zq7xK2 https://host/
curl --user bob:Zq7xK2 https://host/
curl -x http://proxy:3128 -U bob:Zq7xK2 https://host/
curl -H 'Authorization: Bearer Zq7xK2Zq7xK2' https://host/
curl -H 'X-Api-Key: Zq7xK2' https://host/
curl -H 'PRIVATE-TOKEN: Zq7xK2' https://host/
curl -d '{"user":"a","password":"Zq7xK2"}' https://host/
curl -dpassword=Zq7xK2 https://host/
curl -b session=Zq7xK2 https://host/
curl -E client.pem:Zq7xK2 https://host/
curl --oauth2-bearer Zq7xK2 https://host/
curl https://host/?access_token=Zq7xK2
wget --user=bob --password=Zq7xK2 https://host/
wget --http-password Zq7xK2 https://host/
wget ftp://bob:Zq7xK2@host/file
http -a bob:Zq7xK2 GET host/
https --auth=bob:Zq7xK2 host/
http host/ Authorization:Zq7xK2
ab -A bob:Zq7xK2 -n 10 http://host/
aria2c --http-passwd=Zq7xK2 http://host/
lftp -u bob,Zq7xK2 host
ncftpput -u bob -p Zq7xK2 host / file
mysql -u root -pZq7xK2 shop
mysqldump -uroot -pZq7xK2 --all-databases
sudo mysql -u root -pZq7xK2
sudo -u app -E mysql -u root -pZq7xK2
sudo -nu app /usr/bin/mysql -pZq7xK2
mysqladmin -u root password Zq7xK2
mysql --password=Zq7xK2 -h db
mysql -e "ALTER USER 'a' IDENTIFIED BY 'Zq7xK2'"
psql postgresql://app:Zq7xK2@db/shop
psql 'host=db user=app password=Zq7xK2'
psql -c "ALTER ROLE app PASSWORD 'Zq7xK2'"
env PGPASSWORD=Zq7xK2 psql -h db
env -u HOME -i PGPASSWORD=Zq7xK2 psql -h db
mongo -u root -p Zq7xK2 admin
mongosh mongodb://root:Zq7xK2@db/admin
mongodump -u root -pZq7xK2
redis-cli -a Zq7xK2 ping
redis-cli -h db --pass Zq7xK2
redis-cli auth Zq7xK2
redis-cli config set requirepass Zq7xK2
redis-server --requirepass Zq7xK2
sqlcmd -S db -U sa -P Zq7xK2
sqlplus app/Zq7xK2@db
cqlsh -u app -p Zq7xK2
etcdctl --user root:Zq7xK2 get x
rabbitmqctl add_user app Zq7xK2
mosquitto_pub -u app -P Zq7xK2 -t x -m y
ldapsearch -x -D cn=admin -w Zq7xK2 -b dc=x
ldapmodify -x -D cn=admin -wZq7xK2
ldappasswd -D cn=admin -w a -s Zq7xK2 uid=bob
kadmin -p admin -w Zq7xK2
smbclient //host/share -U dom\\bob%Zq7xK2
smbclient //host/share Zq7xK2 -U bob
rpcclient -U bob%Zq7xK2 host
net ads join -U bob%Zq7xK2
mount -t cifs //host/share /mnt -o username=bob,password=Zq7xK2
htpasswd -bc /etc/users bob Zq7xK2
htpasswd -nb bob Zq7xK2
usermod -p Zq7xK2 bob
sshpass -p Zq7xK2 ssh host
sshpass -pZq7xK2 ssh host
plink -pw Zq7xK2 host
ssh-keygen -t ed25519 -N Zq7xK2 -f key
openssl enc -aes-256-cbc -k Zq7xK2 -in a
openssl enc -aes-256-cbc -K 00Zq7xK2 -iv 00
openssl rsa -passin pass:Zq7xK2 -in key.pem
openssl pkcs12 -export -password pass:Zq7xK2
openssl passwd -6 Zq7xK2
gpg --batch --passphrase Zq7xK2 -d a.gpg
7z a -pZq7xK2 a.7z dir
7za x -pZq7xK2 a.7z
rar a -hpZq7xK2 a.rar dir
zip -P Zq7xK2 a.zip b
zip -rP Zq7xK2 a.zip b
unzip -P Zq7xK2 a.zip
unzip -qPZq7xK2 a.zip
qpdf --password=Zq7xK2 a.pdf b.pdf
aws configure set aws_secret_access_key Zq7xK2
aws rds create-db-instance --master-user-password Zq7xK2
aws ssm put-parameter --name x --type SecureString --value Zq7xK2
az login -u bob -p Zq7xK2
az login --service-principal -u app --password Zq7xK2
az storage blob list --account-key Zq7xK2
az keyvault secret set --name x --value Zq7xK2
gcloud sql users set-password root --password=Zq7xK2
docker login -u bob -p Zq7xK2 registry
podman login -u bob -pZq7xK2 registry
docker run -e DB_PASSWORD=Zq7xK2 -p 80:80 app
docker run -eDB_PASSWORD=Zq7xK2 app
docker exec -it db mysql -pZq7xK2
docker run --rm curlimages/curl -u bob:Zq7xK2 host
skopeo copy --src-creds bob:Zq7xK2 docker://a docker://b
helm install x chart --set db.password=Zq7xK2
helm upgrade x chart --set=db.password=Zq7xK2
helm registry login -u bob -p Zq7xK2 host
kubectl --token=Zq7xK2 get pods
kubectl create secret generic x --from-literal=k=Zq7xK2
kubectl create secret docker-registry x --docker-password Zq7xK2
kubectl exec -it pod -- mysql -pZq7xK2
kubeadm join --token Zq7xK2 host
vault login Zq7xK2
vault operator unseal Zq7xK2
vault kv put secret/x password=Zq7xK2
git clone https://bob:Zq7xK2@host/x.git
git clone https://Zq7xK2@host/x.git
git -c http.extraHeader='Authorization: Basic Zq7xK2' fetch
git config --global github.token Zq7xK2
npm config set //registry.npmjs.org/:_authToken Zq7xK2
npm publish --//registry.npmjs.org/:_authToken=Zq7xK2
ansible-playbook site.yml -e ansible_password=Zq7xK2
ansible all -m ping --extra-vars "ansible_become_pass=Zq7xK2"
terraform apply -var db_password=Zq7xK2
terraform apply -var=db_password=Zq7xK2
rsync -a rsync://bob:Zq7xK2@host/x .
nmap --script smb-enum --script-args smbuser=a,smbpass=Zq7xK2 host
snmpwalk -v2c -c Zq7xK2 host
snmpget -v3 -u bob -a SHA -A Zq7xK2 host
snmpget -v3 -u bob -x AES -X Zq7xK2 host
ipmitool -I lanplus -H host -U root -P Zq7xK2 power status
fence_ipmilan -a host -l root -p Zq7xK2
xfreerdp /v:host /u:bob /p:Zq7xK2
rdesktop -u bob -p Zq7xK2 host
x11vnc -passwd Zq7xK2
vncpasswd Zq7xK2
nmcli dev wifi connect home password Zq7xK2
wpa_passphrase home Zq7xK2
java -Ddb.password=Zq7xK2 -jar app.jar
java -Djavax.net.ssl.keyStorePassword=Zq7xK2 -jar app.jar
keytool -list -keystore a.jks -storepass Zq7xK2
node --token Zq7xK2 server.js
node server.js --dbPass Zq7xK2
python app.py --api-key=Zq7xK2
twine upload -u bob -p Zq7xK2 dist/x
cargo login Zq7xK2
swaks --to a@b -ap Zq7xK2
tailscale up --authkey Zq7xK2
mysqlsh app:Zq7xK2@db:3306
nice -n 5 curl -uadmin:Zq7xK2 host
timeout -k 5 30 curl -uadmin:Zq7xK2 host
nohup setsid mysql -pZq7xK2
ionice -c 3 nice -n 19 mysqldump -pZq7xK2 shop
stdbuf -oL env A=1 mysql -pZq7xK2
flock /run/lock mysql -pZq7xK2
xargs -n 1 curl -uadmin:Zq7xK2
ssh -p 22 host mysql -pZq7xK2
ssh host 'sudo mysql -pZq7xK2 shop'
su - bob -c 'mysql -pZq7xK2 shop'
sh -c 'curl -uadmin:Zq7xK2 host | jq .'
bash -lc 'cd /srv && PGPASSWORD=Zq7xK2 psql -h db'
bash -c 'for x in 1 2; do unzip -P Zq7xK2 a.zip; done'
sudo sh -c 'timeout 5 openssl enc -k Zq7xK2 -in a'
sh -c 'echo Zq7xK2 | sudo -S reboot'
sh -c "echo 'bob:Zq7xK2' | chpasswd"
sh -c 'echo Zq7xK2 | docker login -u bob --password-stdin'
watch -n 5 'redis-cli -a Zq7xK2 info'
busybox wget ftp://bob:Zq7xK2@host/
find /srv -exec curl -ubob:Zq7xK2 -T {} host ;
sshpass -e ssh host mysql -pZq7xK2
app --token "Zq7xK2 with blanks"
app GITHUB_TOKEN=Zq7xK2
vault login hvs.Zq7xK2Zq7xK2
lftp -c "open -u bob,Zq7xK2 host"
rsync --rsh="sshpass -p Zq7xK2 ssh" a b
ssh -o 'ProxyCommand=sshpass -p Zq7xK2 ssh host' host
curl -HAuthorization:Zq7xK2 host
ldapsearch -xwZq7xK2 -D cn=a
nsenter -t 1 -m mysql -pZq7xK2
time -p mysql -pZq7xK2
sshpass -vp Zq7xK2 ssh host
zsh -c 'X=$(curl -uadmin:Zq7xK2 host)'
app --dsn=bob:Zq7xK2@tcp(host)/shop
`;

const ordinary = String.raw`
ls -p /srv
ls -lap
cp -p a b
mkdir -p /srv/a
ps -p 1
ssh -p 22 host
ssh -p22 bob@host uptime
ssh -o PasswordAuthentication=no host
ssh -i /home/bob/.ssh/id_ed25519 host
scp -P 22 a host:b
tar -k -xf a.tar
grep -k x
grep -rn password /etc
grep -w token a.ts
docker run -p 80:80 -d nginx
docker run --name mongo -p 27017:27017 mongo
docker run --name mysql -p 3306:3306 mysql:8
docker exec -it db sh
docker pull nginx:1@sha256:0123456789abcdef
docker compose -p shop up
podman run -p 53:53/udp dns
kubectl get pods -w
kubectl get secret x -o yaml
kubectl logs -p pod
kubectl port-forward svc/db 5432:5432
helm install x chart -f values.yaml --set replicas=3
mysql -p shop
mysql -u root -h db -P 3306 shop
mysqld --port=3306 --user=mysql
sudo -u mysql ls -p
sudo -p prompt: ls -l
psql -p 5432 -h db -U app shop
psql --no-password -h db
psql --password -h db
pg_dump -U app -h db shop
postgres -p 5432 -D /var/lib/postgresql
redis-server *:6379
redis-cli -h db -p 6379 ping
mongod --port 27017 --dbpath /data
openssl s_client -connect host:443
openssl req -new -key server.pem -out a.csr
openssl x509 -in a.pem -noout -text
openssl enc -aes-256-cbc -kfile /run/k -in a
curl -k https://host/
curl -sSfL -o out https://host/
curl -X POST --cert /etc/a.pem --key /etc/a.key https://host/
curl -u bob https://host/
wget -q -O - https://host/
gpg -k
gpg --list-keys
unzip -p a.zip b
zip -r a.zip b
7z x a.7z
sort -k 2 a
sort --key 2 a
nmap -p 22,80 host
nmap -p- -sS host
rsync -a -e 'ssh -p 22' a host:b
git clone git@host:a/b.git
git commit -m 'fix the token parser'
git push -u origin main
git log -p -3
find / -name mysql -prune
java -Xmx1g -Dapp=shop -jar app.jar
java -cp a.jar:b.jar com.shop.Main
node --max-old-space-size=512 server.js
node server.js --port 8080 --auth-type oidc
python -m http.server 8080
python3 -c 'print(1 + 2)'
ansible-playbook -k -K site.yml
ansible-playbook --ask-become-pass site.yml
ansible-playbook --vault-password-file /run/v site.yml
aws s3 ls s3://bucket
aws secretsmanager get-secret-value --region eu-west-1
az login --use-device-code
gcloud auth list
vault status
npm run build --workspace a
npm config set registry https://host/
snmpwalk -v3 -u bob -l authPriv host
ffmpeg -i a.mp4 -pass 1 -f mp4 out
timeout 5 sleep 3
nice -n 5 make -k -j 2
env LANG=C TZ=UTC date
sh -c 'ls -p | sort -k 2'
bash -c 'echo hello | tee /tmp/a'
/usr/sbin/sshd -D -p 22
/usr/bin/dockerd -H fd:// --containerd=/run/containerd/containerd.sock
/usr/lib/systemd/systemd --switched-root --system --deserialize 31
nginx: worker process
sshd: bob@pts/0
postgres: app shop 10.0.0.1(5432) idle
php-fpm: pool www
cat /etc/passwd
passwd bob
htpasswd -c /etc/users bob
ipmitool -I lanplus -H host -U root power status
app --max-tokens 5 --token-file /run/t
xfreerdp /v:host /u:bob
tmux new -s zip
watch -n 5 df -h
kubeadm join --discovery-token-ca-cert-hash sha256:0123 host
sudo -l
tail -f /var/log/auth.log
strace -p 22 -f
top -p 1,2
useradd -m bob
ldapsearch -x -b dc=x uid=bob
`;

const linesOf = (table: string): string[] => table.trim().split('\n');

describe('command lines', () => {
  for (const line of linesOf(telling)) {
    test(`keep their secret: ${line}`, () => {
      const shown = redactArguments(argumentsOf(line)).join(' ');
      assert.ok(!shown.includes('Zq7xK2') && shown.includes('[redacted]'), shown);
      const asked = redactArguments(['sudo', '-n', 'sh', '-c', line]).join(' ');
      assert.ok(!asked.includes('Zq7xK2'), `in a shell: ${asked}`);
    });
  }

  for (const line of linesOf(ordinary)) {
    test(`stay readable: ${line}`, () => {
      assert.deepEqual(redactArguments(argumentsOf(line)), argumentsOf(line));
      assert.deepEqual(redactArguments(['bash', '-c', line]), ['bash', '-c', line]);
    });
  }

  test('say who and where beside what they hide', () => {
    assert.equal(
      redactArguments(argumentsOf('sudo curl -suadmin:Zq7xK2 https://host/a')).join(' '),
      'sudo curl -suadmin:[redacted] https://host/a',
    );
    assert.equal(
      redactArguments(['sh', '-c', "mysql -u 'root' -p'a b' shop; ls"]).at(-1),
      "mysql -u 'root' -p[redacted] shop; ls",
    );
  });

  test('of any length and any quoting come back', () => {
    for (const piece of ['"', "'", '\\', '$(', 'curl -u ', 'a:b@', ' --token', ';', 'sh -c "']) {
      const text = piece.repeat(Math.ceil(16_000 / piece.length));
      assert.equal(redactArguments(['bash', '-c', text]).length, 3);
    }
  });
});
