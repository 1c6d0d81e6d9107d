{{- define "vinyasa.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "vinyasa.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "vinyasa.labels" -}}
{{ include "vinyasa.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "vinyasa.configMap" -}}
{{- if and (not .Values.existingConfigMap) (not (hasKey .Values.files "gateway.config.yaml")) -}}
{{- fail "Give the config: --set-file 'files.gateway\\.config\\.yaml=gateway.config.yaml', or the name of a ConfigMap with it as existingConfigMap." -}}
{{- end -}}
{{- .Values.existingConfigMap | default (include "vinyasa.name" .) -}}
{{- end -}}
