{{- /* Templates that several manifests share. */ -}}

{{- define "platform.metadata" -}}
name: {{ . }}
labels: {{ include "platform.labels" . | nindent 2 }}
{{- end }}

{{- define "platform.labels" -}}
app.kubernetes.io/name: {{ . }}
app.kubernetes.io/part-of: platform
{{- end }}

{{- /* First fields of a pod. Arguments: root, user, and name if replicas are spread over nodes. */ -}}
{{- define "platform.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  seccompProfile: { type: RuntimeDefault }
{{- with .name }}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { app.kubernetes.io/name: {{ $.name }} } }
  {{- end }}
{{- end }}
{{- end }}

{{- define "platform.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* No CPU limit: it would delay responses while the CPU is idle. */ -}}
{{- define "platform.resources" -}}
requests: { cpu: {{ .cpu | quote }}, memory: {{ .memory }} }
limits: { memory: {{ .memoryLimit }} }
{{- end }}

{{- define "platform.secretMount" -}}
{ name: secrets, mountPath: /run/secrets/platform, readOnly: true }
{{- end }}

{{- define "platform.tracing" -}}
{{- with .Values.collector }}
- { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }} }
- { name: OTEL_TRACES_SAMPLER_ARG, value: {{ $.Values.traceRatio | quote }} }
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom: { secretKeyRef: { name: gateway, key: OTEL_EXPORTER_OTLP_HEADERS, optional: true } }
{{- end }}
{{- end }}

{{- /* Annotations with which Prometheus discovers a pod (observability/scrape.yaml). */ -}}
{{- define "platform.scraped" -}}
prometheus.io/scrape: 'true'
prometheus.io/port: {{ . | quote }}
prometheus.io/path: /metrics
{{- end }}

{{- /* Scales up at once. Scales down one replica at a time after five minutes, so that replicas remain for the next burst. */ -}}
{{- define "platform.autoscaler" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{ include "platform.metadata" .name | nindent 2 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ .name }} }
  minReplicas: {{ .replicas.min }}
  maxReplicas: {{ .replicas.max }}
  metrics:
    - type: Resource
      resource: { name: cpu, target: { type: Utilization, averageUtilization: {{ .replicas.cpu }} } }
  behavior:
    scaleUp: { policies: [{ type: Percent, value: 100, periodSeconds: 30 }] }
    scaleDown:
      stabilizationWindowSeconds: 300
      policies: [{ type: Pods, value: 1, periodSeconds: 60 }]
{{- end }}

{{- /* Draining a node evicts one replica at a time. */ -}}
{{- define "platform.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{ include "platform.metadata" . | nindent 2 }}
spec: { maxUnavailable: 1, selector: { matchLabels: { app.kubernetes.io/name: {{ . }} } } }
{{- end }}

{{- define "platform.dns" -}}
- to: [{ namespaceSelector: {} }, { ipBlock: { cidr: {{ .Values.nodeLocalDns }}/32 } }]
  ports: [{ protocol: UDP, port: 53 }, { protocol: TCP, port: 53 }]
{{- end }}

{{- /* Allows requests to a URL in the cluster or in these networks, such as the collector; nothing if there is no URL. */ -}}
{{- define "platform.egressTo" -}}
{{- with .url }}
{{- $url := urlParse . }}
{{- $port := regexFind "[0-9]+$" $url.host | default (ternary "443" "80" (eq $url.scheme "https")) }}
- to:
    - namespaceSelector: {}
    {{- range $.networks }}
    - ipBlock: { cidr: {{ . }} }
    {{- end }}
  ports: [{ protocol: TCP, port: {{ $port }} }]
{{- end }}
{{- end }}

{{- define "platform.ports" -}}
{{- range . }}
- { protocol: TCP, port: {{ . }} }
{{- end }}
{{- end }}

{{- /* PostgreSQL connections of all replicas and of one more replica per service during a rollout (ADR 87). */ -}}
{{- define "platform.connections" -}}
{{- $sum := 0 }}
{{- range .Values.services }}
{{- $each := add .pool (.connectionsBesidePool | default 0) 1 }}
{{- $sum = add $sum (mul (add .replicas.max 1) $each) }}
{{- end }}
{{- $sum }}
{{- end }}
