#!/bin/sh
# make-secrets.sh: print the Secret 'memsvc' as YAML, of new random secrets. Use it once, by 'make-secrets.sh | kubectl
# create --filename -', which refuses to replace what is there. The administrator's URL is made of CloudNativePG's own
# Secret, which must exist (kubectl reads it).
set -eu
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
password=$(kubectl --namespace memsvc get secret memsvc-db-superuser --output 'jsonpath={.data.password}' | base64 -d)
[ -n "$password" ]
cat << END
apiVersion: v1
kind: Secret
metadata:
  name: memsvc
  namespace: memsvc
stringData:
  memsvc_database_url: postgresql://postgres:$password@memsvc-db-rw/memsvc?sslmode=verify-full&sslrootcert=/run/database/ca.crt
  memsvc_identity_secret: $(random)
  memsvc_app_password: $(random)
  memsvc_reader_password: $(random)
  memsvc_cypher_password: $(random)
  memsvc_analyst_password: $(random)
END
