// A controller as one writes it on the first day: it labels each ConfigMap, and does not look first
// whether that has its label.
import {KubeConfig, CoreV1Api, makeInformer, PatchStrategy, setHeaderOptions} from '@kubernetes/client-node';

const config = new KubeConfig();
config.loadFromDefault();
const client = config.makeApiClient(CoreV1Api);
const informer = makeInformer(config, '/api/v1/namespaces/default/configmaps', () => client.listNamespacedConfigMap({namespace: 'default'}));
const reconcile = ({metadata: {name}}) => client.patchNamespacedConfigMap({name, namespace: 'default', body: {metadata: {labels: {seen: 'yes'}}}},
  setHeaderOptions('Content-Type', PatchStrategy.MergePatch)).catch((error) => console.error(error.message));
informer.on('add', reconcile);
informer.on('update', reconcile);
informer.on('error', (error) => console.error(error.message));
await informer.start();
